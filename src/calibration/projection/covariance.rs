//! How far the L-moments of a sample stray from those of its distribution.

use super::gev::standard_moments;

/// The standard Gumbel variates that integrals run over: outside of them nothing is left to add.
const FROM: f64 = -3.5;
const STEP: f64 = 0.15;
const POINTS: u32 = 200;

/// A symmetric matrix over the mean in units of the spread, the logarithm of the spread, and the skewness.
pub type Matrix = [[f64; 3]; 3];

/// The asymptotic covariance of sample L-moments for one draw, to be divided by the size of the sample (Hosking 1990,
/// theorem 3).
///
/// With P the shifted Legendre polynomials it is, for the L-moments r and s,
/// ∬ over x < y of (Pᵣ(F(x)) Pₛ(F(y)) + Pₛ(F(x)) Pᵣ(F(y))) F(x) (1 − F(y)) dx dy,
/// here over the Gumbel variate g: F = exp(−exp(−g)) and dx = exp(−k g) dg.
pub struct Covariance {
    /// F and 1 − F at each variate.
    grid: Vec<(f64, f64)>,
}

impl Covariance {
    pub fn new() -> Self {
        let tails = (0..POINTS).map(|point| (-(FROM + STEP * f64::from(point))).exp());
        Self {
            grid: tails.map(|tail| ((-tail).exp(), -(-tail).exp_m1())).collect(),
        }
    }

    /// The covariance where the shape is above −½; at and below it there is none.
    pub fn of(&self, shape: f64) -> Matrix {
        let (mut width, narrower) = (STEP * (-shape * FROM).exp(), (-shape * STEP).exp());
        let mut inner = [0.0; 3];
        let mut half = Matrix::default();
        for (below, above) in &self.grid {
            let legendre = [1.0, 2.0 * below - 1.0, 6.0 * below * below - 6.0 * below + 1.0];
            for r in 0..3 {
                let here = legendre[r] * below * width;
                for s in 0..3 {
                    half[r][s] += (inner[r] + here / 2.0) * legendre[s] * above * width;
                }
                inner[r] += here;
            }
            width *= narrower;
        }
        let moments = standard_moments(shape);
        // Rows of the Jacobian of (λ₁ / spread, ln λ₂, λ₃ / λ₂).
        let jacobian = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -moments.skewness, 1.0]]
            .map(|row| row.map(|entry| entry / moments.spread));
        let mut matrix = Matrix::default();
        for (row, left) in matrix.iter_mut().zip(&jacobian) {
            for (entry, right) in row.iter_mut().zip(&jacobian) {
                *entry = (0..9)
                    .map(|at| (at / 3, at % 3))
                    .map(|(r, s)| left[r] * (half[r][s] + half[s][r]) * right[s])
                    .sum();
            }
        }
        matrix
    }
}
