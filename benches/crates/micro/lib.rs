//! Nothing: the benchmarks are what there is.
