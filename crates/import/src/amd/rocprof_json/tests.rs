//! Tests on made files in the form that rocprof writes.

use super::*;
use crate::reading::source::Limits;
use crate::testing::{bytes, slices, sums, text};
use crate::{ImportError, read};

/// As ROCm 5 and 6 write it.
const NEW: &str = r#"{ "traceEvents":[{}
,{"args":{"name":"Markers and Ranges"},"ph":"M","pid":0,"name":"process_name","sort_index":0}
,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":1}
,{"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name","sort_index":2}
,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":3}
,{"args":{"name":"GPU Barriers 0"},"ph":"M","pid":518,"name":"process_name","sort_index":4}
,{"ph":"X","name":"step \"1\"","pid":0,"tid":42,"ts":"10","dur":"90",
  "args":{
    "BeginNs":"10500",
    "EndNs":"100999",
    "pid":"41",
    "tid":"42",
    "Name":"step"
  }
}
,{"ph":"X","name":"hipLaunchKernel","pid":2,"tid":42,"ts":"11","dur":"4",
  "args":{
    "BeginNs":"11600",
    "EndNs":"15700",
    "pid":"41",
    "tid":"42",
    "Name":"hipLaunchKernel",
    "args":"( stream(0) )",
    "DurationNs":"4100"
  }
}
,{"ph":"X","name":"__hipPopCallConfiguration","pid":2,"tid":42,"ts":"11","dur":"1",
  "args":{
    "BeginNs":"11100",
    "EndNs":"11200",
    "pid":"41",
    "tid":"42"
  }
}
,{"ph":"X","name":"gemm(int) [clone .kd]","pid":6,"tid":0,"ts":"20","dur":"7",
  "args":{
    "BeginNs":"20100",
    "EndNs":"27700",
    "dev-id":"2",
    "queue-id":"3",
    "Name":"gemm(int) [clone .kd]",
    "DurationNs":"7600"
  }
}
,{"ph":"X","name":"hipMemcpy","pid":2,"tid":42,"ts":"30","dur":"9",
  "args":{
    "BeginNs":"30000",
    "EndNs":"39000",
    "pid":"41",
    "tid":"42"
  }
}
,{"ph":"X","name":"CopyDeviceToHost","pid":1,"tid":0,"ts":"31","dur":"7",
  "args":{
    "BeginNs":"31000",
    "EndNs":"38500"
  }
}
,{"ph":"X","name":"FillBuffer","pid":1,"tid":0,"ts":"50","dur":"1",
  "args":{
    "BeginNs":"50000",
    "EndNs":"50700"
  }
}
,{"ph":"X","name":"<barrier packet>","pid":518,"tid":0,"ts":"60","dur":"1",
  "args":{
    "BeginNs":"60000",
    "EndNs":"60100"
  }
}
,{"ts":11,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":42,"name":"dep"}
,{"ts":20,"ph":"t","cat":"DataFlow","id":0,"pid":6,"tid":0,"name":"dep"}
,{"ts":30,"ph":"s","cat":"DataFlow","id":7,"pid":2,"tid":42,"name":"dep"}
,{"ts":31,"ph":"t","cat":"DataFlow","id":7,"pid":1,"tid":0,"name":"dep"}
],
"otherData": {
    "0. Memory": "18446744073709551615"
  }
}"#;

#[test]
fn events_are_what_their_process_is() {
    let imported = text("results.json", NEW);
    use SliceKind::{Call, Copy, Kernel, Other, Range, Set};
    let thread = "process 41/thread 42".to_owned();
    let copies = "copies/copies".to_owned();
    assert_eq!(
        slices(&imported),
        [
            (Range, "step \"1\"", thread.clone(), 10500, 90499, 0),
            (Call, "hipLaunchKernel", thread.clone(), 11600, 4100, 1),
            (
                Call,
                "__hipPopCallConfiguration",
                thread.clone(),
                11100,
                100,
                0
            ),
            (
                Kernel,
                "gemm(int)",
                "GPU 0/queue 3".to_owned(),
                20100,
                7600,
                1
            ),
            (Call, "hipMemcpy", thread, 30000, 9000, 8),
            (Copy, "CopyDeviceToHost", copies.clone(), 31000, 7500, 8),
            (Set, "FillBuffer", copies, 50000, 700, 0),
            (
                Other,
                "<barrier packet>",
                "GPU 0/barriers".to_owned(),
                60000,
                100,
                0
            ),
        ]
    );
    let kernel = imported.trace.slice(3);
    assert_eq!(imported.trace.tracks[kernel.track as usize].device, Some(0));
    let call = imported.trace.slice(1);
    assert_eq!(imported.trace.names.get(call.detail), "( stream(0) )");
    assert_eq!(
        (imported.tool.name.as_str(), imported.format),
        ("rocprof", "rocprof-json")
    );
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn old_files_have_text_for_numbers_and_no_lengths() {
    let old = r#"{ "traceEvents":[{}
,{"args":{"name":"GPU1"},"ph":"M","pid":7,"name":"process_name"}
,{"ph":"X","name":"a","pid":"7","tid":"0","ts":"5","dur":"2","args":{"BeginNs":"5100","EndNs":"7000"}}
,{"ph":"X","name":"a","pid":"7","tid":"0","ts":"9","dur":"2","args":{}}
,{"ph":"X","name":"a","pid":"7","tid":"0","ts":"9","args":{"BeginNs":"x"}}
,{"ph":"X","name":"back","pid":"7","tid":"0","ts":"9","args":{"BeginNs":"9000","EndNs":"8000"}}
]}"#;
    let imported = text("results.json", old);
    assert_eq!(
        sums(&imported, SliceKind::Kernel),
        [("a".to_owned(), 2, 3900), ("back".to_owned(), 1, 0)]
    );
    assert_eq!(imported.trace.tracks[0].group, "GPU 1");
    assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
}

#[test]
fn a_name_that_nobody_quoted_costs_one_event() {
    let damaged = NEW.replace("\"Name\":\"hipLaunchKernel\"", "\"Name\":\"say \"hello\"\"");
    let imported = text("results.json", &damaged);
    assert_eq!(imported.trace.len(), 7);
    assert!(
        imported.notes[0].starts_with("1 event"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn other_traces_are_not_taken() {
    let head = |text: &str| (FORMAT.recognises)(&FileHead::from_bytes(text.as_bytes()));
    assert!(head(NEW));
    assert!(head("{\"traceEvents\": [ {} ] }"));
    assert!(!head(
        "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"COPY\"}]}"
    ));
    assert!(!head("[{\"traceEvents\": [{}]}]"));
    assert!(!head("{\"schemaVersion\": 1, \"traceEvents\": []}"));
}

#[test]
fn a_file_that_is_cut_anywhere_is_no_accident() {
    let mut most = 0;
    for length in (30..NEW.len()).step_by(3) {
        let imported = bytes("results.json", &NEW.as_bytes()[..length]).unwrap();
        assert!(imported.trace.len() >= most);
        most = imported.trace.len();
    }
    assert_eq!(most, 8);
    let watch = ReadProgress::default();
    watch.cancel.cancel();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    std::fs::write(&path, NEW).unwrap();
    let error = read(&path, Limits::default(), &watch).unwrap_err();
    assert!(matches!(error, ImportError::Cancelled), "{error}");
}
