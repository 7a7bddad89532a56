//! What the window shows, as lines of text: for a page of a browser, where no reader gets the tree of the widgets.

use std::collections::BTreeMap;

use eframe::egui::accesskit::{Node, NodeId, TreeUpdate};
use eframe::egui::{Context, FullOutput, Plugin};

/// Hands the text of the screen over whenever it is another one.
pub struct ScreenText {
    hand_over: Box<dyn Fn(&str) + Send + Sync>,
    last: String,
}

impl ScreenText {
    pub fn new(hand_over: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            hand_over: Box::new(hand_over),
            last: String::new(),
        }
    }
}

impl Plugin for ScreenText {
    fn debug_name(&self) -> &'static str {
        "screen text"
    }

    fn setup(&mut self, ctx: &Context) {
        ctx.enable_accesskit();
    }

    fn output_hook(&mut self, _: &Context, output: &mut FullOutput) {
        if let Some(update) = &output.platform_output.accesskit_update {
            let text = text(update);
            if text != self.last {
                (self.hand_over)(&text);
                self.last = text;
            }
        }
    }
}

/// A line for each widget that has a name or a value, in the order of the screen.
fn text(update: &TreeUpdate) -> String {
    let nodes: BTreeMap<NodeId, &Node> =
        update.nodes.iter().map(|(id, node)| (*id, node)).collect();
    let root = update.tree.as_ref().map(|tree| tree.root);
    let mut open: Vec<NodeId> = root.into_iter().collect();
    let mut text = String::new();
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(&id) else {
            continue;
        };
        let parts = [node.label(), node.value()].into_iter().flatten();
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            text.push_str(&parts.join(": "));
            text.push('\n');
        }
        open.extend(node.children().iter().rev());
    }
    text
}
