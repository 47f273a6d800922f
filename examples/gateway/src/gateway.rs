//! Gateway: each call is passed on as an asynchronous one, whose reply handler answers it. A call
//! that waits for its device occupies no thread, on either side.

use punctual::{Interface, Response, SystemExceptionKind};
use punctual_example_gateway::{Devices, DevicesAmhServant, DevicesReadError, serve, start};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

struct Gateway {
    devices: Devices,
    open: Arc<AtomicU32>,
}

impl DevicesAmhServant for Gateway {
    fn read(&self, response: Response<i32, DevicesReadError>, name: &str) {
        self.open.fetch_add(1, Ordering::Relaxed);
        let open = self.open.clone();
        let answer = move |result| {
            open.fetch_sub(1, Ordering::Relaxed);
            // The client may have gone, and then gets no answer.
            let _ = response.answer(result);
        };
        self.devices.sendc_read(answer, name);
    }

    fn open_reads(&self, response: Response<u32>) {
        let _ = response.reply(self.open.load(Ordering::Relaxed));
    }

    fn measure(&self, response: Response<()>) {
        let answer = move |result| drop(response.answer(result));
        self.devices.sendc_measure(answer);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = start()?;
    let [_, devices, file] = arguments.as_slice() else {
        return Err(SystemExceptionKind::BadParam
            .because("gateway REFERENCE FILE")
            .into());
    };
    let gateway = Gateway {
        devices: Devices::narrow(orb.string_to_object(devices)?)?,
        open: Arc::default(),
    };
    serve(&orb, gateway, file.as_ref())
}
