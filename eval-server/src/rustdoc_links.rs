//! The page of `docs/` on this crate, as rustdoc.

/// The text of a page. It has no links to other pages.
macro_rules! page {
    ($file:literal) => {
        include_str!($file)
    };
}

pub(crate) use page;
