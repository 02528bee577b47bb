//! Messages of the compiler: one mistake a file in `tests/ui`, and the expected message beside it.
//!
//! `TRYBUILD=overwrite cargo test --test compile_fail` writes them anew; read them before you commit.
//! `cargo test --test compile_fail -- ui trybuild=set_` runs those whose names contain `set_`.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
