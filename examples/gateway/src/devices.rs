//! Devices that have no values until they are told to measure. Until then calls to them stay open
//! without occupying a thread.

use punctual::{Response, SystemExceptionKind};
use punctual_example_gateway::{DevicesAmhServant, DevicesReadError, NoSuchDevice, serve, start};
use std::error::Error;
use std::sync::{Mutex, PoisonError};

type Read = (String, Response<i32, DevicesReadError>);

#[derive(Default)]
struct Slow(Mutex<Vec<Read>>);

impl DevicesAmhServant for Slow {
    fn read(&self, response: Response<i32, DevicesReadError>, name: &str) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.push((name.to_owned(), response));
    }

    fn open_reads(&self, response: Response<u32>) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = match u32::try_from(open.len()) {
            Ok(count) => response.reply(count),
            Err(_) => response.fail(SystemExceptionKind::ImpLimit),
        };
    }

    fn measure(&self, response: Response<()>) {
        let open = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (name, response) in open {
            // The client may have gone, and then gets no answer.
            let _ = match name.strip_prefix("device ").map(str::parse) {
                Some(Ok(number)) => response.reply(number),
                _ => response.raise(NoSuchDevice { name }),
            };
        }
        let _ = response.reply(());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = start()?;
    let file = arguments.get(1).ok_or("gateway-devices FILE")?;
    serve(&orb, Slow::default(), file.as_ref())
}
