//! Files of Google's tools in protobuf: profiles of XLA, and traces of Perfetto.

pub(crate) mod perfetto;
pub(crate) mod xplane;
