//! Files of Google's tools in protobuf: profiles of XLA.

pub(crate) mod xplane;
