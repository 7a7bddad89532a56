//! The instances of the selected kernel, and how far the search for them is.

use std::sync::Arc;

use super::profile_ref::ProfileRef;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::instances::Instances;

/// An instance that the timeline can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceChoice {
    /// The first one.
    First,
    /// The longest one.
    Longest,
    /// The one that starts at a time, counted from the first slice in nanoseconds.
    At(u64),
}

/// State of the search for instances.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceSearch {
    /// The timeline is read, or they are looked for in it.
    Looking,
    /// They were found.
    Found(Arc<Instances>),
    /// There are none to be seen, and why.
    Missing(String),
}

/// Instances of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct InstancesLookup {
    /// The profile that has the kernel.
    pub pick: ProfileRef,
    /// The kernel, by its whole name.
    pub kernel: String,
    /// How far it is.
    pub progress: InstanceSearch,
    /// Whether a thread looks for them now.
    pub(super) is_asked: bool,
}

/// What is known of instances and of the timeline that has them.
#[derive(Debug, Default)]
pub struct InstancesState {
    /// Those of the selected kernel.
    pub looked: Option<InstancesLookup>,
    /// The one to show on the timeline once they are found.
    pub(super) wanted: Option<InstanceChoice>,
    /// The profile whose timeline is being read for them.
    pub(super) reading: Option<ProfileRef>,
    /// A timeline that was read for them, for as long as a kernel is selected.
    pub(super) trace: Option<(ProfileRef, Arc<Trace>)>,
}
