//! Nothing: the tests are what is measured.
