//! `powerband mcp` as its clients use it: conversations over pipes, and messages that make no sense.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::{self, Home};

/// A client that waits for each answer.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command(&[&["mcp"], args].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the server starts");
        Self {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().expect("a pipe")),
            server,
            asked: 0,
        }
    }

    fn send(&mut self, text: &str) {
        let input = self.input.as_mut().expect("an open pipe");
        writeln!(input, "{text}").expect("the server reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        let answer = self.hear();
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The texts that a tool answers with, and whether they say why it cannot.
    fn call(&mut self, tool: &str, arguments: &Value) -> (Vec<String>, bool) {
        let answer = self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let result = &answer["result"];
        let content = result["content"].as_array().expect("content").iter();
        let texts = content.map(|one| {
            assert_eq!(one["type"], "text");
            one["text"].as_str().expect("a text").to_owned()
        });
        let texts = texts.collect();
        (texts, result["isError"].as_bool().expect("a flag"))
    }

    /// The document that a tool answers with.
    fn document(&mut self, tool: &str, arguments: &Value) -> Value {
        let (texts, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{texts:?}");
        serde_json::from_str(&texts[0]).expect("a document")
    }

    /// Why a tool cannot answer.
    fn reason(&mut self, tool: &str, arguments: &Value) -> String {
        let (texts, is_error) = self.call(tool, arguments);
        assert!(is_error, "{texts:?}");
        texts.join("\n")
    }

    fn code(&mut self, text: &str) -> i64 {
        self.send(text);
        let answer = self.hear();
        answer["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("{answer}"))
    }

    /// Closes the server's input, at which it ends by itself.
    fn end(mut self) {
        drop(self.input.take());
        let status = self.server.wait().expect("an end");
        assert!(status.success(), "{status}");
    }
}

/// A session in the library with two setups, of which the second is slower.
fn measured(home: &Home) {
    let args = ["bench", "resnet18@cifar", "--batch", "1,4", "--rounds", "3"];
    let setups = [
        "--setup",
        "fake",
        "--setup",
        "fake,item=400",
        "--name",
        "two",
    ];
    let run = home.run(&[args, setups].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
}

#[test]
fn a_client_finds_a_session_and_asks_about_it() {
    let home = Home::new();
    measured(&home);
    let mut client = Client::start(&home, &[]);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
    let answer = client.ask("initialize", &hello);
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answer["result"]["serverInfo"]["name"], "powerband");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        names,
        [
            "sessions", "summary", "compare", "kernels", "why", "history"
        ],
        "none of them measures"
    );
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["session"]));

    let found = client.document("sessions", &json!({ "search": "TWO" }));
    let path = found["sessions"][0]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let none = client.document("sessions", &json!({ "search": "nonesuch" }));
    assert_eq!(none["sessions"], json!([]));
    // A key of the document and a folder of the path are no words of a session.
    for word in ["created", "library"] {
        let found = client.document("sessions", &json!({ "search": word }));
        assert_eq!(found["sessions"], json!([]), "{word}");
    }
    let session = json!({ "session": path });
    let summary = client.document("summary", &session);
    assert_eq!(summary["cases"].as_array().map(Vec::len), Some(4));
    assert!(summary["cases"][0]["latency_ms"]["median"].is_f64());
    assert_eq!(summary.get("environment"), None, "beside the numbers");
    let verdict = client.document("compare", &json!({ "before": path, "batch": 4 }));
    let pair = &verdict["comparisons"][0]["pairs"][0];
    assert_eq!(pair["verdict"], "slower", "{pair}");
    assert!(pair["ci95"][0].as_f64() < pair["ci95"][1].as_f64());
    let history = client.document("history", &session);
    assert_eq!(history["cases"].as_array().map(Vec::len), Some(4));
    client.end();
}

#[test]
fn what_cannot_be_answered_says_why() {
    let home = Home::new();
    measured(&home);
    let path = support::files(&home.path("home/sessions"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "ron"));
    let path = path.expect("a session").display().to_string();
    let mut client = Client::start(&home, &[]);
    let session = json!({ "session": path });
    let reason = client.reason("kernels", &session);
    assert!(reason.contains("has no profile"), "{reason}");
    let reason = client.reason("why", &session);
    assert!(reason.contains("has no experiments"), "{reason}");
    let reason = client.reason("why", &json!({ "session": "resnet18@cifar" }));
    assert!(reason.contains("is a model"), "{reason}");
    let reason = client.reason("summary", &json!({ "session": "nonesuch.ron" }));
    assert!(reason.contains("nonesuch.ron"), "{reason}");
    // Neither an option nor a file that is named like one.
    let reason = client.reason("summary", &json!({ "session": "--help" }));
    assert!(reason.contains("--help"), "{reason}");
    assert!(!reason.contains("Usage"), "{reason}");
    for (arguments, word) in [
        (json!({}), "needs session"),
        (json!({ "session": 3 }), "a text"),
        (json!({ "session": path, "top": 3 }), "takes no \"top\""),
    ] {
        let reason = client.reason("summary", &arguments);
        assert!(reason.contains(word), "{reason}");
    }
    let reason = client.reason("compare", &json!({ "before": path, "batch": -1 }));
    assert!(reason.contains("a whole number from 1"), "{reason}");
    // It is not offered, so that it is no tool.
    let answer = client.ask("tools/call", &json!({ "name": "bench" }));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("--allow-runs"), "{answer}");
    client.end();
    assert!(home.journals().is_empty(), "nothing was measured");
}

#[test]
fn messages_that_make_no_sense_are_refused_and_the_next_is_answered() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    assert_eq!(client.code("no JSON at all"), -32700);
    assert_eq!(client.code("\"\\ud800"), -32700);
    assert_eq!(client.code("[]"), -32600);
    assert_eq!(client.code("7"), -32600);
    assert_eq!(client.code("{}"), -32600);
    assert_eq!(
        client.code(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
        -32600
    );
    assert_eq!(
        client.code(r#"{"jsonrpc":"2.0","id":1,"method":"nonesuch"}"#),
        -32601
    );
    assert_eq!(
        client.code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#),
        -32602
    );
    let arguments =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":[]}}"#;
    assert_eq!(client.code(arguments), -32602);
    assert_eq!(
        client.code(&"9".repeat(3 << 20)),
        -32600,
        "longer than any message"
    );
    assert_eq!(
        client.code(&"[".repeat(100_000)),
        -32700,
        "deeper than any message"
    );
    // Neither is answered: a notification that nobody knows, an answer to nothing, and an empty line.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/nonesuch"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    client.send("");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let hello = client.ask("initialize", &json!({ "protocolVersion": "1999-01-01" }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    client.end();
}

#[test]
fn a_run_is_started_where_that_was_allowed() {
    let home = Home::new();
    let mut client = Client::start(&home, &["--allow-runs"]);
    let model =
        json!({ "model": "resnet18@cifar", "setups": ["fake"], "batch": "2", "preset": "quick" });
    let measured = client.document("bench", &model);
    assert_eq!(measured["cases"][0]["outcome"], "finished");
    let found = client.document("sessions", &json!({}));
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(1));
    // What a model read may have asked for it.
    let command = json!({ "model": "resnet18@cifar", "setups": ["command,run=\"touch here\""] });
    let reason = client.reason("bench", &command);
    assert!(reason.contains("run=touch here"), "{reason}");
    assert!(!home.path("here").exists());

    let hangs = json!({ "model": "resnet18@cifar", "setups": ["fake,fail=run-hang"] });
    let request = json!({ "name": "bench", "arguments": hangs });
    let request =
        json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": request });
    client.send(&request.to_string());
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "long" } });
    client.send(&cancel.to_string());
    let found = client.document("sessions", &json!({}));
    assert_eq!(
        found["sessions"].as_array().map(Vec::len),
        Some(1),
        "the next is answered"
    );
    // What is running when the client goes is ended, too.
    client.send(&request.to_string());
    client.end();
    assert_eq!(support::processes_with("fail=run-hang"), [""; 0]);
}
