//! Writes one call of each kind to the corpora of `server` and `client`: the request and its reply.
#![allow(clippy::unwrap_used)]

use std::path::Path;

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for one in punctual_fuzz::client::conversations() {
        let (protocol, number) = (one.protocol, one.number);
        let name = format!("{}-{number:02}", ["giop", "lite"][protocol]);
        println!("{name}: {:?}", one.outcome);
        let [protocol, number] = [protocol, number].map(|it| u8::try_from(it).unwrap());
        for (target, octets) in [
            ("server", [&[protocol], &one.asked[..]].concat()),
            ("client", [&[protocol, number], &one.answered[..]].concat()),
        ] {
            let folder = corpus.join(target);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(&name), octets).unwrap();
        }
    }
}
