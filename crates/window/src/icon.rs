//! Icons by what they mean. They are glyphs of one font, so they stay sharp at every size.

/// An icon: one character of the icon font.
pub(crate) type Icon = &'static str;

macro_rules! icons {
    ($($name:ident = $glyph:literal, $means:literal;)+) => {
        $(#[doc = $means] pub(crate) const $name: Icon = $glyph;)+
    };
}

icons! {
    HOME = "\u{e0f5}", "Home.";
    PLAN = "\u{e1d0}", "Plan.";
    RUN = "\u{e13c}", "Run, start, go on.";
    CURVES = "\u{e60d}", "Curves.";
    COMPARE = "\u{e553}", "Compare.";
    FLEET = "\u{e125}", "Machines.";
    HISTORY = "\u{e087}", "History.";
    JOURNEY = "\u{e53e}", "Journey.";
    KERNELS = "\u{e529}", "Kernels.";
    WHY = "\u{e082}", "Why.";
    TIMELINE = "\u{e038}", "Timeline.";
    LIBRARY = "\u{e100}", "Library.";
    SETTINGS = "\u{e245}", "Settings.";
    ADD = "\u{e13d}", "Add.";
    DISCARD = "\u{e18e}", "To the trash.";
    COPY = "\u{e09e}", "Copy.";
    COLUMNS = "\u{e29a}", "Columns of a table.";
    EXPORT = "\u{e0b2}", "Write to a file.";
    LEFT = "\u{e06e}", "To the left.";
    RIGHT = "\u{e06f}", "To the right.";
    CLOSE = "\u{e1b2}", "Close.";
    UP = "\u{e070}", "Up, rising.";
    DOWN = "\u{e06d}", "Down, falling.";
    PAUSE = "\u{e12e}", "Pause.";
    STOP = "\u{e167}", "Stop.";
    SKIP = "\u{e160}", "Skip.";
    OPEN = "\u{e247}", "Open a file, show in the file manager.";
    SAVE = "\u{e14d}", "Save.";
    INFO = "\u{e0f9}", "Worth knowing.";
    WARNING = "\u{e193}", "A problem.";
    GOOD = "\u{e226}", "Went well.";
    UNDO = "\u{e2a1}", "Undo.";
    REDO = "\u{e2a0}", "Redo.";
    CPU = "\u{e0a9}", "Processor.";
    MEMORY = "\u{e445}", "Memory.";
    GPU = "\u{e1bf}", "Graphics processor.";
    AGAIN = "\u{e145}", "Again.";
    SWAP = "\u{e24a}", "Swap.";
    PANEL = "\u{e12a}", "The library beside the rail.";
    LOG = "\u{e181}", "The log.";
    LIMIT = "\u{e180}", "Limit.";
    FIT = "\u{e113}", "Fit into the window.";
    PIN = "\u{e259}", "Keep in sight.";
    HIDE = "\u{e0bb}", "Hide.";
    FLAG = "\u{e0d1}", "A note.";
    EDIT = "\u{e1f9}", "Edit.";
    TIMER = "\u{e1e0}", "Measure a time.";
    ZOOM = "\u{e151}", "Show large.";
    FOLD = "\u{e211}", "Fold or unfold.";
}
