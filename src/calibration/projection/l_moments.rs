//! L-moments of a sample.

/// The first two L-moments of a sample and its L-skewness (Hosking 1990, *J. R. Stat. Soc. B* 52:105).
#[derive(Clone, Copy, Debug)]
pub struct LMoments {
    /// The mean, λ₁.
    pub mean: f64,
    /// The spread, λ₂: half the mean difference of two draws.
    pub spread: f64,
    /// The skewness, τ₃ = λ₃ / λ₂, between −1 and 1.
    pub skewness: f64,
}

impl LMoments {
    /// The unbiased estimates from at least three values in ascending order, by probability-weighted moments (Landwehr,
    /// Matalas & Wallis 1979, *Water Resour. Res.* 15:1055); none without spread.
    #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
    pub fn of_sorted(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let [mut b0, mut b1, mut b2] = [0.0; 3];
        for (rank, value) in values.iter().enumerate() {
            let below = rank as f64;
            let share = below / (n - 1.0);
            b0 += value / n;
            b1 += value / n * share;
            b2 += value / n * share * (below - 1.0) / (n - 2.0);
        }
        let spread = 2.0 * b1 - b0;
        let skewness = (6.0 * b2 - 6.0 * b1 + b0) / spread;
        (spread > 0.0 && skewness.abs() < 1.0).then_some(Self {
            mean: b0,
            spread,
            skewness,
        })
    }
}
