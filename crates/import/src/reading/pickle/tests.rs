//! One object in every protocol, and pickles that are made to do harm.

use super::*;

/// `{"a": [1, -2, 300, 70000, 2**40, -2**70, 1.5, None, True, False, "é"], "t": (1, 2, 3, 4), "e": (), "again": a}`
/// as Python writes it.
const PROTOCOLS: [&[u8]; 5] = [
    b"(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naL1099511627776L\naL-1180591620717411303424L\naF1.5\naNaI01\naI00\naV\xc3\xa9\np3\nasVt\np4\n(I1\nI2\nI3\nI4\ntp5\nsVe\np6\n(tsVagain\np7\ng2\ns.",
    b"}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00L1099511627776L\x0aL-1180591620717411303424L\x0aG?\xf8\x00\x00\x00\x00\x00\x00NI01\x0aI00\x0aX\x02\x00\x00\x00\xc3\xa9q\x03eX\x01\x00\x00\x00tq\x04(K\x01K\x02K\x03K\x04tq\x05X\x01\x00\x00\x00eq\x06)X\x05\x00\x00\x00againq\x07h\x02u.",
    b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xc0G?\xf8\x00\x00\x00\x00\x00\x00N\x88\x89X\x02\x00\x00\x00\xc3\xa9q\x03eX\x01\x00\x00\x00tq\x04(K\x01K\x02K\x03K\x04tq\x05X\x01\x00\x00\x00eq\x06)X\x05\x00\x00\x00againq\x07h\x02u.",
    b"\x80\x04\x95^\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xc0G?\xf8\x00\x00\x00\x00\x00\x00N\x88\x89\x8c\x02\xc3\xa9\x94e\x8c\x01t\x94(K\x01K\x02K\x03K\x04t\x94\x8c\x01e\x94)\x8c\x05again\x94h\x02u.",
    b"\x80\x05\x95^\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xc0G?\xf8\x00\x00\x00\x00\x00\x00N\x88\x89\x8c\x02\xc3\xa9\x94e\x8c\x01t\x94(K\x01K\x02K\x03K\x04t\x94\x8c\x01e\x94)\x8c\x05again\x94h\x02u.",
];

/// Reads a pickle, and how that ended.
fn outcome(bytes: &[u8]) -> (Pickle, Result<(), PickleError>) {
    let mut make = |_: &PickleContainer, _: &Names| None;
    let mut reader = PickleReader::new(bytes, &mut make);
    let outcome = reader.run();
    (reader.finish(), outcome)
}

fn read(bytes: &[u8]) -> Pickle {
    let (pickle, outcome) = outcome(bytes);
    outcome.unwrap();
    pickle
}

fn refusal(bytes: &[u8]) -> String {
    outcome(bytes).1.unwrap_err().to_string()
}

#[test]
fn every_protocol_reads_as_the_same() {
    for bytes in PROTOCOLS {
        let pickle = read(bytes);
        let list = pickle.items(pickle.get(pickle.root, "a"));
        let numbers = [1, -2, 300, 70_000, 1 << 40, i64::MIN].map(PickleValue::Int);
        assert_eq!(list[..6], numbers);
        let others = [
            PickleValue::Float(1.5),
            PickleValue::Nothing,
            PickleValue::Bool(true),
            PickleValue::Bool(false),
        ];
        assert_eq!((&list[6..10], pickle.text(list[10])), (&others[..], "é"));
        assert_eq!(
            pickle.get(pickle.root, "again"),
            pickle.get(pickle.root, "a")
        );
        let tuple = pickle.items(pickle.get(pickle.root, "t"));
        assert_eq!(tuple, [1, 2, 3, 4].map(PickleValue::Int));
        assert!(pickle.items(pickle.get(pickle.root, "e")).is_empty());
        assert_eq!(pickle.get(pickle.root, "z"), PickleValue::Nothing);
    }
}

#[test]
fn sets_bytes_and_short_tuples_are_read_over() {
    // [{7}, frozenset([7]), (1, 2), b"xyz", bytearray(b"xy"), 'old', "old"], with numbers of the memo from 1 on.
    let pickle = read(b"\x80\x05](\x8f(K\x07\x90(K\x07\x91K\x01K\x02\x86C\x03xyz\x96\x02\0\0\0\0\0\0\0xyS'old'\nq\x01T\x03\0\0\0oldq\x02e.");
    let list = pickle.items(pickle.root);
    let sizes: Vec<usize> = list.iter().map(|item| pickle.items(*item).len()).collect();
    assert_eq!(sizes, [1, 1, 2, 0, 0, 0, 0]);
    assert_eq!((pickle.text(list[5]), list[5]), ("old", list[6]));
}

#[test]
fn what_would_be_called_is_named_and_not_called() {
    let calls: [(&[u8], &str); 8] = [
        (b"cposix\nsystem\nX\x01\0\0\0a\x85R.", "posix.system"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"(X\x01\0\0\0aios\nsystem\n.", "os.system"),
        (b"}}b.", "a function or a class"),
        (b"\x80\x02\x82\x01.", "a function or a class"),
        (b"P1\n.", "a function for objects outside it"),
        (b"\x80\x05\x97.", "a function for objects outside it"),
        (b"cos\x1b[2J\nsystem\n.", "os\\u{1b}[2J.system"),
    ];
    for (bytes, name) in calls {
        let said = refusal(bytes);
        assert_eq!(
            said,
            format!("it asks for {name} to be called, and reading it calls nothing")
        );
    }
}

#[test]
fn lists_within_themselves_and_shared_ones_end() {
    // a = []; a.append(a); a dictionary that is its own value.
    let pickle = read(b"]q\0h\0a.");
    assert_eq!(pickle.items(pickle.root), [pickle.root]);
    let pickle = read(b"}q\0X\x01\0\0\0kh\0s.");
    assert_eq!(pickle.get(pickle.root, "k"), pickle.root);
    // Each list holds the one before it a hundred times: 100^1000 values, if they were copied.
    let mut bomb = b"]\x94".to_vec();
    for number in 0..1000_u32 {
        bomb.extend(b"](");
        for _ in 0..100 {
            bomb.push(b'j');
            bomb.extend(number.to_le_bytes());
        }
        bomb.extend(b"e\x94");
    }
    bomb.push(b'.');
    assert!(read(&bomb).items(PickleValue::Container(1000)).len() == 100);
}

#[test]
fn depth_and_lengths_that_are_not_there_take_no_memory() {
    let deep = [vec![b']'; 300_000], vec![b'a'; 299_999], vec![b'.']].concat();
    read(&deep);
    assert!(matches!(
        outcome(&vec![b'('; 2 << 20]).1,
        Err(PickleError::Damaged)
    ));
    let cut: [&[u8]; 8] = [
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"X\xff\xff\xff\xffabc",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\xffab",
        b"\x8b\xff\xff\xff\xffab",
        b"\x8a\xff\0",
        b"\x96\0\0\0\0\0\0\0\x40",
        b"I12",
        b"",
    ];
    for bytes in cut {
        let error = outcome(bytes).1.unwrap_err();
        assert!(matches!(error, PickleError::Io(_)), "{error}");
    }
    let damaged: [&[u8]; 14] = [
        b"]r\xff\xff\xff\x7f.",
        b"h\x05.",
        b"e.",
        b"a.",
        b"]a.",
        b"K\x01(K\x01a.",
        b"K\x01K\x02a.",
        b"(K\x01s.",
        b"t.",
        b"\x86.",
        b"1.",
        b"\x94.",
        b"Iabc\n.",
        b"\xff",
    ];
    for bytes in damaged {
        let error = outcome(bytes).1.unwrap_err();
        assert!(matches!(error, PickleError::Damaged), "{bytes:?}: {error}");
    }
}

#[test]
fn more_values_than_fit_are_refused() {
    // A list that is put into itself, two bytes each time.
    let mut reader = Vec::from(*b"]\x94(");
    reader.extend(b"h\0".repeat(20_000));
    reader.extend(b"e");
    // Read over and over, as one file.
    struct Repeated<'a>(&'a [u8], usize);
    impl io::Read for Repeated<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let from = self.1 % self.0.len();
            let n = into.len().min(self.0.len() - from);
            into[..n].copy_from_slice(&self.0[from..from + n]);
            self.1 += n;
            Ok(n)
        }
    }
    let mut make = |_: &PickleContainer, _: &Names| None;
    let bytes = io::BufReader::new(Repeated(&reader, 0));
    let mut reader = PickleReader::new(bytes, &mut make);
    reader.n_held = MOST_VALUES - 1_000_000;
    let said = reader.run().unwrap_err().to_string();
    assert!(said.starts_with("it has more than 80"), "{said}");
}

#[test]
fn what_stands_before_a_cut_is_kept() {
    let whole = PROTOCOLS[3];
    for length in 0..whole.len() {
        let (pickle, outcome) = outcome(&whole[..length]);
        assert!(outcome.is_err());
        if length > 60 {
            let list = pickle.items(pickle.get(pickle.root, "a"));
            assert!(list.len() > 4, "{length}: {list:?}");
        }
    }
}
