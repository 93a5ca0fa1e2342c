//! The `fixture` binary. Everything it does lives in `tests::fixture`.

fn main() -> std::process::ExitCode {
    tests::fixture::main()
}
