//! `call`: the call in hand.

use plugway_bindings::imports::call::{Host, Way as Direction};
use wasmtime::Result;

use crate::pipeline::call::Way;
use crate::plugin::ctx::Ctx;

impl Host for Ctx {
    fn direction(&mut self) -> Result<Direction> {
        self.charge()?;
        Ok(match self.task.call()?.context.way {
            Way::FromClient => Direction::FromClient,
            Way::FromUpstream => Direction::FromUpstream,
        })
    }

    fn method(&mut self) -> Result<String> {
        self.charge()?;
        Ok(self.task.call()?.context.message.method_name().into_owned())
    }

    fn name(&mut self) -> Result<String> {
        self.charge()?;
        Ok(self.task.call()?.context.name.as_ref().into())
    }

    fn target(&mut self) -> Result<Option<(String, String)>> {
        self.charge()?;
        let target = &self.task.call()?.context.target;
        Ok(target.as_ref().map(|(upstream, name)| (upstream.as_ref().into(), name.as_ref().into())))
    }

    fn session(&mut self) -> Result<Option<String>> {
        self.charge()?;
        Ok(self.task.call()?.context.session.as_deref().map(Into::into))
    }

    fn header(&mut self, name: String) -> Result<Option<String>> {
        self.charge()?;
        let headers = &self.task.call()?.context.headers;
        Ok(self.place.headers.read(headers, &name).map(Into::into))
    }

    fn arguments_len(&mut self) -> Result<u32> {
        self.charge()?;
        let length = self.task.call()?.context.arguments_len();
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }

    fn arguments_json(&mut self) -> Result<String> {
        self.charge()?;
        Ok(if self.unambiguous()? {
            self.task.call()?.context.arguments_json().into()
        } else {
            "{}".into()
        })
    }

    fn argument(&mut self, pointer: String) -> Result<Option<String>> {
        self.charge()?;
        if !self.unambiguous()? {
            return Ok(None);
        }
        let document = self.task.call()?.context.document();
        Ok(document.ok().and_then(|document| document.pointer(&pointer)))
    }

    fn hint(&mut self, name: String) -> Result<Option<bool>> {
        self.charge()?;
        let hints = &self.task.call()?.context.hints;
        Ok(match name.as_str() {
            "readOnlyHint" => hints.read_only,
            "destructiveHint" => hints.destructive,
            "idempotentHint" => hints.idempotent,
            "openWorldHint" => hints.open_world,
            _ => None,
        })
    }

    fn attempt(&mut self) -> Result<u32> {
        self.charge()?;
        self.task.call().map(|_| 0)
    }

    fn retry_of(&mut self) -> Result<Option<String>> {
        self.charge()?;
        let retry_of = &self.task.call()?.context.retry_of;
        Ok(retry_of.as_deref().map(Into::into))
    }

    fn deadline_ms(&mut self) -> Result<Option<u32>> {
        self.charge()?;
        self.task.call().map(|_| None)
    }

    fn attribute(&mut self, key: String) -> Result<Option<String>> {
        self.charge()?;
        let context = &self.task.call()?.context;
        Ok(context.attribute(&key).map(Into::into))
    }
}

impl Ctx {
    /// Whether everybody reads the arguments the same way. If not, it is noted, and the call is refused whatever the
    /// plugin decides: a trap would cost an instance that did nothing wrong.
    fn unambiguous(&mut self) -> Result<bool> {
        let call = self.task.call_mut()?;
        match call.context.document() {
            Ok(_) => Ok(true),
            Err(why) => {
                call.ambiguous = Some(why.into());
                Ok(false)
            }
        }
    }
}
