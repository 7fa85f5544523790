//! The `folga` program.

fn main() -> std::process::ExitCode {
    folga::cli::main()
}
