//! Messages in all encodings and with all settings of the log.

use punctual::json::{NoNames, from_json};
use punctual::{Any, TypeCode};
use punctual_cdr::{Block, ByteOrder, CodeSets, Coding, Encoder, GiopVersion};
use punctual_giop::trace::{TraceOptions, describe};
use punctual_giop::{
    MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContext,
    ServiceContexts, Target, align_body, begin_message, finish_message,
};
use punctual_idl_describe as types;
use serde_json::{Value as JsonValue, json};

const IDL: &str = include_str!("plant.idl");
pub(crate) const PEER: &str = "iiop://127.0.0.1:5000, socket 7";

/// Encoding of messages, and the settings with which they are logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) order: ByteOrder,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    pub(crate) hex: bool,
    pub(crate) payload: bool,
}

pub(crate) const FORM: Form = Form {
    order: ByteOrder::Little,
    version: GiopVersion::V1_2,
    code_sets: CodeSets::NATIVE,
    hex: false,
    payload: true,
};

impl Form {
    pub(crate) fn message(
        self,
        kind: MessageKind,
        head: impl Fn(&mut Encoder<'_>),
        body: impl Fn(&mut Encoder<'_>),
        has_body: bool,
    ) -> Vec<u8> {
        let coding = Coding {
            version: self.version,
            code_sets: self.code_sets,
            ..Coding::default()
        };
        let mut out = Encoder::new(Block::default(), self.order, coding);
        begin_message(&mut out, kind);
        head(&mut out);
        if has_body {
            align_body(&mut out);
        }
        body(&mut out);
        let mut block = out.into_block();
        finish_message(&mut block).unwrap();
        block.into_vec()
    }

    pub(crate) fn request(self, id: u32, operation: &str, arguments: &[Any]) -> Vec<u8> {
        // An odd key: bodies of GIOP 1.0 and 1.1 begin anywhere.
        self.request_with(
            id,
            operation,
            arguments,
            &[],
            ResponseFlags::SYNC_WITH_TARGET,
        )
    }

    pub(crate) fn request_with(
        self,
        id: u32,
        operation: &str,
        arguments: &[Any],
        contexts: &[ServiceContext<'_>],
        response: ResponseFlags,
    ) -> Vec<u8> {
        let head = |out: &mut Encoder<'_>| {
            let header = RequestHeader {
                request_id: id,
                response,
                target: Target::ObjectKey(b"key"),
                operation,
                contexts: ServiceContexts::new(contexts),
            };
            header.encode(out).unwrap();
        };
        let body = |out: &mut Encoder<'_>| put_all(arguments, out);
        self.message(MessageKind::Request, head, body, !arguments.is_empty())
    }

    pub(crate) fn reply(
        self,
        id: u32,
        status: ReplyStatus,
        body: impl Fn(&mut Encoder<'_>),
        has_body: bool,
    ) -> Vec<u8> {
        let head = |out: &mut Encoder<'_>| {
            let header = ReplyHeader {
                request_id: id,
                status,
                contexts: ServiceContexts::none(),
            };
            header.encode(out).unwrap();
        };
        self.message(MessageKind::Reply, head, body, has_body)
    }

    pub(crate) fn results(self, id: u32, results: &[Any]) -> Vec<u8> {
        let body = |out: &mut Encoder<'_>| put_all(results, out);
        self.reply(id, ReplyStatus::NoException, body, !results.is_empty())
    }

    pub(crate) fn shown(self, way: &str, message: &[u8]) -> String {
        let options = TraceOptions {
            hex: self.hex,
            payload: self.payload,
        };
        format!("giop {way} {PEER}\n{}\n", describe(message, options))
    }
}

pub(crate) fn put_all(values: &[Any], out: &mut Encoder<'_>) {
    for value in values {
        value.marshal_value(out).unwrap();
    }
}

pub(crate) fn type_code(name: &str) -> TypeCode {
    let options = punctual_idl::Options::default();
    let loader = punctual_idl::InMemory::default();
    let compiled = punctual_idl::compile_source("plant.idl", IDL, &options, &loader);
    let specification = compiled.unwrap().specification;
    let declared = specification.find(name).unwrap().id;
    types::type_code(&specification, declared).unwrap()
}

pub(crate) fn any(type_code: &TypeCode, json: &JsonValue) -> Any {
    let value = from_json(type_code, json, &NoNames).unwrap();
    Any::of_value(type_code, &value).unwrap()
}

pub(crate) fn string(text: &str) -> Any {
    any(&TypeCode::string(0), &json!(text))
}

pub(crate) fn readings() -> JsonValue {
    json!([
        {"channel": 1, "celsius": 81.5, "unit": "C", "state": {"speed": 2.5}},
        {"channel": 2, "celsius": -4.0, "unit": "Kelvin", "state": {"$discriminator": "faulty", "reason": "worn"}},
    ])
}

/// JSON of the example's readings, as the command prints it.
pub(crate) const READINGS: &str = "[{\"channel\":1,\"celsius\":81.5,\"unit\":\"C\",\"state\":{\"speed\":2.5}},\
                        {\"channel\":2,\"celsius\":-4.0,\"unit\":\"Kelvin\",\"state\":{\"$discriminator\":\"faulty\",\"reason\":\"worn\"}}]";

pub(crate) fn every_form() -> Vec<Form> {
    let mut forms = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
            for hex in [false, true] {
                forms.push(Form {
                    order,
                    version,
                    hex,
                    ..FORM
                });
            }
        }
    }
    forms
}
