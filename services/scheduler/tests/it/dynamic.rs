//! A client without stubs: it calls each operation by the interface's description.

use std::collections::BTreeSet;

use punctual::Any;
use punctual::description::{InterfaceDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};
use punctual::json::{AnyJson, NoNames, any_from_json_text};
use punctual_scheduler::SchedulingService;

use crate::interface::{OPERATIONS, specification};
use crate::support::Served;

/// Client that knows the interface by its description alone.
struct Client {
    served: Served,
    interface: InterfaceDescription,
    called: BTreeSet<String>,
}

impl Client {
    fn new(service: &SchedulingService) -> Self {
        let specification = specification();
        let declared = punctual_idl_describe::interfaces(&specification)
            .next()
            .unwrap();
        Self {
            served: Served::new(service),
            interface: punctual_idl_describe::interface(&specification, declared.id).unwrap(),
            called: BTreeSet::new(),
        }
    }

    /// Calls an operation with arguments in JSON; returns the result and the out parameters.
    fn call(&mut self, name: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
        self.called.insert(name.to_owned());
        let mut operations = self.interface.operations.iter();
        let operation = operations.find(|one| one.name == name).unwrap();
        let mut request = Request::of(&self.served.scheduler, operation);
        let mut given = arguments.iter();
        for (at, parameter) in operation.parameters.iter().enumerate() {
            if parameter.mode != ParameterMode::Out {
                let text = given.next().unwrap();
                let value = any_from_json_text(&parameter.type_code, text, &NoNames);
                request.set_argument(at, value.unwrap()).unwrap();
            }
        }
        assert_eq!(given.next(), None, "{name}");
        match request.invoke() {
            Ok(()) => {}
            Err(InvokeError::User(exception)) => {
                return Err(exception.type_code().name().unwrap().to_owned());
            }
            Err(InvokeError::System(exception)) => return Err(exception.to_string()),
        }
        let json = |any: &Any| any.to_json().unwrap();
        let outs = operation.parameters.iter().enumerate();
        let outs = outs
            .filter(|(_, parameter)| parameter.mode == ParameterMode::Out)
            .map(|(at, _)| json(request.argument(at).unwrap()));
        Ok([json(request.return_value())]
            .into_iter()
            .chain(outs)
            .collect())
    }

    fn gives(&mut self, name: &str, arguments: &[&str], expected: &[&str]) {
        assert_eq!(
            self.call(name, arguments).unwrap()[1..],
            expected[..],
            "{name}"
        );
    }

    fn returns(&mut self, name: &str, arguments: &[&str], expected: &str) {
        assert_eq!(self.call(name, arguments).unwrap(), [expected], "{name}");
    }

    fn does(&mut self, name: &str, arguments: &[&str]) {
        self.call(name, arguments)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn raises(&mut self, name: &str, arguments: &[&str], exception: &str) {
        assert_eq!(self.call(name, arguments).unwrap_err(), exception, "{name}");
    }
}

/// Parameters of `set` behind the handle: 1 ms in each 10 ms.
const SLOW: [&str; 9] = [
    "\"MEDIUM_CRITICALITY\"",
    "10000",
    "10000",
    "10000",
    "100000",
    "\"MEDIUM_IMPORTANCE\"",
    "0",
    "0",
    "\"OPERATION\"",
];

fn with_handle<'a>(handle: &'a str, others: &[&'a str]) -> Vec<&'a str> {
    [&[handle], others].concat()
}

/// Returns an `RT_Info` with a handle, an execution time and a period.
fn info(handle: i32, time: u32, period: u32) -> String {
    format!(
        "[{{\"entry_point\": \"\", \"handle\": {handle}, \"worst_case_execution_time\": {time}, \
         \"typical_execution_time\": 0, \"cached_execution_time\": 0, \"period\": {period}, \
         \"criticality\": \"HIGH_CRITICALITY\", \"importance\": \"LOW_IMPORTANCE\", \"quantum\": 0, \
         \"threads\": 0, \"dependencies\": [], \"priority\": 0, \"preemption_subpriority\": 0, \
         \"preemption_priority\": 0, \"info_type\": \"OPERATION\", \"enabled\": \"RT_INFO_ENABLED\", \
         \"volatile_token\": 0}}]"
    )
}

#[test]
fn a_client_without_stubs_calls_every_operation() {
    let mut client = Client::new(&SchedulingService::in_memory());
    client.raises("lookup", &["\"read\""], "UNKNOWN_TASK");
    client.returns("create", &["\"read\""], "1");
    client.returns("create", &["\"track\""], "2");
    client.returns("create", &["\"log\""], "3");
    client.raises("create", &["\"read\""], "DUPLICATE_NAME");
    client.returns("lookup", &["\"track\""], "2");
    client.raises("priority", &["1"], "NOT_SCHEDULED");
    client.raises("priority", &["9"], "UNKNOWN_TASK");
    client.raises("entry_point_priority", &["\"write\""], "UNKNOWN_TASK");
    client.raises("last_scheduled_priority", &[], "NOT_SCHEDULED");
    client.raises("get_config_infos", &[], "NOT_SCHEDULED");
    client.raises("dispatch_configuration", &["0"], "NOT_SCHEDULED");
    client.gives("get_config_info_set", &[], &["[]"]);

    client.does("set", &with_handle("1", &SLOW));
    client.raises("set", &with_handle("9", &SLOW), "UNKNOWN_TASK");
    client.does("reset", &with_handle("1", &SLOW));
    client.does("set_seq", &[&info(2, 10_000, 0)]);
    client.does("set_seq", &[&info(3, 10_000, 200_000)]);
    client.does("reset_seq", &[&info(2, 20_000, 0)]);
    client.does("add_dependency", &["2", "1", "1", "\"ONE_WAY_CALL\""]);
    client.raises(
        "add_dependency",
        &["2", "7", "1", "\"ONE_WAY_CALL\""],
        "UNKNOWN_TASK",
    );
    let off = ["2", "1", "1", "\"ONE_WAY_CALL\"", "\"DEPENDENCY_DISABLED\""];
    client.does("set_dependency_enable_state", &off);
    let on = "[{\"dependency_type\": \"ONE_WAY_CALL\", \"number_of_calls\": 1, \"rt_info\": 2, \
              \"rt_info_depended_on\": 1, \"enabled\": \"DEPENDENCY_NON_VOLATILE\"}]";
    client.does("set_dependency_enable_state_seq", &[on]);
    let set = &client.call("get_dependency_set", &[]).unwrap()[1];
    assert!(set.contains("DEPENDENCY_NON_VOLATILE"), "{set}");
    client.does("set_rt_info_enable_state", &["1", "\"RT_INFO_DISABLED\""]);
    let pairs = "[{\"handle\": 1, \"enabled\": \"RT_INFO_ENABLED\"}]";
    client.does("set_rt_info_enable_state_seq", &[pairs]);

    let all = client.call("compute_scheduling", &["1", "99"]).unwrap();
    assert_eq!(all.len(), 5);
    assert!(
        all[1].contains("\"read\"") && all[1].contains("\"track\""),
        "{}",
        all[1]
    );
    client.gives("recompute_scheduling", &["1", "99"], &["[]"]);
    client.gives("priority", &["1"], &["99", "0", "0"]);
    client.gives("priority", &["3"], &["1", "0", "1"]);
    client.gives("entry_point_priority", &["\"track\""], &["99", "1", "0"]);
    client.gives(
        "dispatch_configuration",
        &["0"],
        &["99", "\"STATIC_DISPATCHING\""],
    );
    client.raises("dispatch_configuration", &["2"], "UNKNOWN_PRIORITY_LEVEL");
    client.returns("last_scheduled_priority", &[], "1");
    let configs = client.call("get_config_infos", &[]).unwrap();
    assert_eq!(client.call("get_config_info_set", &[]).unwrap(), configs);
    assert_eq!(client.call("get_rt_info_set", &[]).unwrap()[1], all[1]);
    let one = client.call("get", &["2"]).unwrap();
    assert!(one[0].contains("\"preemption_priority\":0"), "{}", one[0]);
    client.raises(
        "recompute_scheduling",
        &["5", "5"],
        "INSUFFICIENT_THREAD_PRIORITY_LEVELS",
    );

    client.does("remove_dependency", &["2", "1", "1", "\"ONE_WAY_CALL\""]);
    client.raises(
        "remove_dependency",
        &["2", "1", "1", "\"ONE_WAY_CALL\""],
        "UNKNOWN_TASK",
    );
    client.does("replace_seq", &[&info(1, 10_000, 100_000)]);
    client.raises("priority", &["2"], "NOT_SCHEDULED");
    assert_eq!(client.called, OPERATIONS.map(str::to_owned).into());
}
