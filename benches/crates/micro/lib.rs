//! Empty: the package has only benchmarks.
