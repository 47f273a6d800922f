//! Stages of Schmidt et al. 2001's tables 1 and 2, in its order, with TAO's time for each.
//!
//! Measured on a Pentium II Xeon at 400 MHz, averages of 1,000 calls of `cube_void` over IIOP.

use punctual::probe::Point;

/// Line of a table in the paper, for one stage of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Number of the stage in the paper; empty for a stage that the paper's table lacks.
    pub(crate) number: &'static str,
    /// Corresponding stage of a call in Punctual.
    pub(crate) point: Point,
    /// Time of the stage according to the paper, in microseconds.
    pub(crate) micros: Option<f64>,
}

const fn line(number: &'static str, point: Point, micros: f64) -> Line {
    Line {
        number,
        point,
        micros: Some(micros),
    }
}

/// Returns a line for a stage that the paper's table lacks.
const fn own(point: Point) -> Line {
    Line {
        number: "",
        point,
        micros: None,
    }
}

/// Table 1: stages of the client. Waiting for the reply has a line of its own here, while the paper
/// includes it in stage 7. The paper gives no time for stage 9.
pub(crate) const CLIENT: &[Line] = &[
    line("1", Point::ClientInitialise, 6.30),
    line("2", Point::ClientReference, 15.6),
    line("3", Point::ClientMarshal, 0.74),
    line("4", Point::ClientMessagingSend, 7.78),
    line("5", Point::ClientTransportSend, 1.02),
    line("6", Point::ClientSend, 8.70),
    own(Point::ClientReceive),
    line("7", Point::ClientTransportReceive, 50.7),
    line("8", Point::ClientMessagingReceive, 9.25),
    Line {
        number: "9",
        point: Point::ClientDemarshal,
        micros: None,
    },
];

/// Table 2: stages of the server. Sending has a line of its own here, while the paper includes it
/// in stage 10, together with the wait for the client to run.
pub(crate) const SERVER: &[Line] = &[
    line("1", Point::ServerReceive, 7.0),
    line("2", Point::ServerTransportReceive, 24.8),
    line("3", Point::ServerMessagingReceive, 4.5),
    line("4", Point::ServerObjectKey, 4.6),
    line("5", Point::ServerAdapter, 1.39),
    line("6", Point::ServerServant, 4.6),
    line("7", Point::ServerOperation, 4.52),
    own(Point::ServerDemarshal),
    line("8", Point::ServerUpcall, 3.84),
    own(Point::ServerMarshal),
    line("9", Point::ServerMessagingSend, 4.56),
    line("10", Point::ServerTransportSend, 93.6),
    own(Point::ServerSend),
];

/// Notes below the tables that compare call stages with the paper's.
pub(crate) const REMARKS: &str = "\
the paper: TAO on a Pentium II Xeon at 400 MHz, over IIOP. Its client's 7 contains the wait for the \
server, its server's 10 the sending and the wait for the client to run; what has no figure there is not in \
its tables. cube_void has no parameters: marshaling is the call of an empty closure.";

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::probe::Side;

    #[test]
    fn every_stage_has_one_line_in_its_side_s_table() {
        for &point in Point::ALL {
            let table = match point.side() {
                Side::Client => CLIENT,
                Side::Server => SERVER,
            };
            let lines = table.iter().filter(|line| line.point == point).count();
            assert_eq!(lines, usize::from(point != Point::ClientEnd), "{point:?}");
        }
    }

    #[test]
    fn the_paper_s_columns_add_up_to_what_its_calls_took() {
        let sum = |table: &[Line]| table.iter().filter_map(|line| line.micros).sum::<f64>();
        assert!((sum(CLIENT) - 100.09).abs() < 0.001);
        assert!((sum(SERVER) - 153.41).abs() < 0.001);
    }
}
