//! Pages that belong to no item of this crate.

#[doc = crate::pages::page!("../docs/api.md")]
pub mod api {}

#[doc = crate::pages::page!("../docs/baseline.md")]
pub mod baseline {}

#[doc = crate::pages::page!("../docs/ci.md")]
pub mod ci {}

#[doc = crate::pages::page!("../docs/command-line.md")]
pub mod command_line {}

#[doc = crate::pages::page!("../docs/comparison.md")]
pub mod comparison {}

#[doc = crate::pages::page!("../docs/configuration.md")]
pub mod configuration {}

#[doc = crate::pages::page!("../docs/differences.md")]
pub mod differences {}

#[doc = crate::pages::page!("../docs/eval-set.md")]
pub mod eval_set {}

#[doc = crate::pages::page!("../docs/expect.md")]
pub mod expect {}

#[doc = crate::pages::page!("../docs/from-adk-eval.md")]
pub mod from_adk_eval {}

#[doc = crate::pages::page!("../docs/from-agentevals.md")]
pub mod from_agentevals {}

#[doc = crate::pages::page!("../docs/golden-tools.md")]
pub mod golden_tools {}

#[cfg_attr(any(not(doctest), feature = "macros"), doc = crate::pages::page!("../docs/goldens.md"))]
pub mod goldens {}

#[doc = crate::pages::page!("../docs/green.md")]
pub mod green {}

#[doc = crate::pages::page!("../docs/measurements.md")]
pub mod measurements {}

#[doc = crate::pages::page!("../docs/page.md")]
pub mod page {}

#[doc = crate::pages::page!("../docs/store.md")]
pub mod store {}

#[cfg_attr(any(not(doctest), feature = "macros"), doc = crate::pages::page!("../docs/variants.md"))]
pub mod variants {}

#[doc = crate::pages::page!("../docs/worse.md")]
pub mod worse {}
