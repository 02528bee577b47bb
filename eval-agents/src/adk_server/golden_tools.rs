//! Golden tools for ADK's server in Python: a plugin that is loaded into it has its tools ask this process.
//!
//! A server that cannot load a plugin says so in its log alone, and runs the tools. So the plugin reports here when it is
//! loaded, and no turn begins before that: see [`ToolRouter::welcome`].

mod loopback;
mod plugin;
mod router;

pub(super) use router::{ToolLease, ToolRouter};
