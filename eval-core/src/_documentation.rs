//! Pages that belong to no item of this crate.

/// A module for each page.
macro_rules! pages {
    ($($name:ident: $page:literal,)+) => {
        $(
            #[doc = crate::pages::page!($page)]
            pub mod $name {}
        )+
    };
}

pages! {
    api: "../docs/api.md",
    ci: "../docs/ci.md",
    command_line: "../docs/command-line.md",
    comparison: "../docs/comparison.md",
    configuration: "../docs/configuration.md",
    differences: "../docs/differences.md",
    eval_set: "../docs/eval-set.md",
    from_adk_eval: "../docs/from-adk-eval.md",
    from_agentevals: "../docs/from-agentevals.md",
    goldens: "../docs/goldens.md",
    green: "../docs/green.md",
    measurements: "../docs/measurements.md",
    page: "../docs/page.md",
    store: "../docs/store.md",
}
