//! Real and random files: what google-adk and the format's documents say of them.

mod adk_documents;
mod corpus;
mod corpus_configs;
#[cfg(feature = "edit")]
mod edit;
mod equal_keys;
mod expect_page;
mod no_panics;
mod shape_vectors;
#[cfg(feature = "export")]
mod unwritten;
