fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let b = punctual_build::Builder::new()
        .out_dir(&args[0])
        .native("::everything::Cookie", "std::num::NonZeroU64")
        .include_dir("/usr/share/idl/omniORB")
        .include_dir("/usr/share/idl/omniORB/COS");
    for f in &args[1..] {
        if let Err(e) = b.compile(&[f]) {
            eprintln!("{e:?}");
        }
    }
}
