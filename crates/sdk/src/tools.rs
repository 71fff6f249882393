//! The tools of a program, and its main function.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_protocol::{Action, ToolDescriptions};

use crate::error::StopReason;
use crate::handle::Output;
use crate::inbox::Inbox;
use crate::invocation::{self, Invocation};
use crate::tool::{Tool, ToolBody};
use crate::{Call, DescribeError, Error, ToolHandle, answer};

/// The tools of a program.
#[derive(Default)]
pub struct Tools {
    tools: Vec<Tool>,
}

impl Tools {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    // Not `std::ops::Add`: nothing is summed.
    #[expect(clippy::should_implement_trait, reason = "it adds to a list")]
    pub fn add(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Runs the program's action and returns its exit code. This is all that
    /// `main` needs.
    ///
    /// The action is read from the program's last two arguments, the context
    /// and the tool as JSON, or from stdin as one object `{"context": …,
    /// "tool": …}`.
    pub fn run(self) -> ExitCode {
        let args: Vec<String> = std::env::args().skip(1).collect();
        if args.is_empty() && io::stdin().is_terminal() {
            eprintln!("{}", self.usage());
            return ExitCode::from(2);
        }
        self.run_on(&args, io::BufReader::new(io::stdin()), io::stdout())
    }

    /// Like [`Tools::run`], with the caller's arguments, input and output, for
    /// tests.
    pub fn run_on(
        self,
        args: &[String],
        mut input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> ExitCode {
        let invocation = match invocation::read(args, &mut input) {
            Ok(invocation) => invocation,
            Err(error) => {
                let error = Error::from(error);
                eprintln!("{}\n\n{}", chain(error), self.usage());
                return ExitCode::from(2);
            }
        };
        let output: Output = Arc::new(Mutex::new(output));
        let done = match invocation.context.action {
            Action::Schema => self.print_descriptions(&output),
            Action::FormatArguments => self.print_formatted(invocation, &output),
            Action::Run => self.call(invocation, input, &output),
        };
        match done {
            Ok(code) => code,
            // The reader is gone.
            Err(_) => ExitCode::FAILURE,
        }
    }

    /// The program's description of its tools.
    ///
    /// A test that calls this finds mistakes that the compiler does not: two
    /// tools of one name, or a parameter that no model could use.
    pub fn descriptions(&self) -> Result<ToolDescriptions, DescribeError> {
        let mut descriptions = ToolDescriptions::default();
        for tool in &self.tools {
            if descriptions
                .tools
                .iter()
                .any(|other| other.name == tool.name)
            {
                return Err(DescribeError::Twice(tool.name.clone()));
            }
            descriptions.tools.push(tool.describe()?);
        }
        Ok(descriptions)
    }

    fn print_descriptions(&self, output: &Output) -> io::Result<ExitCode> {
        match self.descriptions() {
            Ok(descriptions) => {
                let json = serde_json::to_string(&descriptions)?;
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                writeln!(output, "{json}")?;
                output.flush()?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                eprintln!("{error}");
                Ok(ExitCode::FAILURE)
            }
        }
    }

    fn print_formatted(self, invocation: Invocation, output: &Output) -> io::Result<ExitCode> {
        let call = Call::of(invocation);
        let formatted = self.find(call.tool()).and_then(|tool| match &tool.format {
            Some(format) => format(&call),
            None => Err(Error::new(format_args!(
                "tool `{}` does not format its arguments itself",
                call.tool()
            ))),
        });
        let code = code_of(&formatted);
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        answer::write_result(&mut *output, formatted)?;
        Ok(code)
    }

    fn call(
        self,
        invocation: Invocation,
        input: impl BufRead + Send + 'static,
        output: &Output,
    ) -> io::Result<ExitCode> {
        let call = Call::of(invocation);
        let result = match self.find(call.tool()).map(|tool| &tool.work) {
            Err(error) => Err(error),
            Ok(ToolBody::OneShot(run)) => run(&call),
            Ok(ToolBody::Interactive(run)) => match run(&call) {
                Err(error) => Err(error),
                Ok(exec) => {
                    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                    answer::write_exec(&mut *output, exec)?;
                    return Ok(ExitCode::SUCCESS);
                }
            },
            Ok(ToolBody::Stateful(run)) => {
                let handle = ToolHandle::new(call, Inbox::filled_from(input), Arc::clone(output));
                let result = run(handle);
                let code = code_of(&result);
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                answer::write_last(&mut *output, result)?;
                return Ok(code);
            }
        };
        let code = code_of(&result);
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        answer::write_result(&mut *output, result)?;
        Ok(code)
    }

    fn find(&self, name: &str) -> Result<&Tool, Error> {
        self.tools
            .iter()
            .find(|tool| tool.name == name)
            .ok_or_else(|| {
                Error::new(format_args!(
                    "there is no tool `{name}` in this program; it has {}",
                    self.names()
                ))
            })
    }

    fn names(&self) -> String {
        let names: Vec<String> = self
            .tools
            .iter()
            .map(|tool| format!("`{}`", tool.name))
            .collect();
        names.join(", ")
    }

    fn usage(&self) -> String {
        let program = std::env::args().next().unwrap_or_default();
        let name = self.tools.first().map_or("NAME", |tool| tool.name.as_str());
        format!(
            "this program contains tools for Windlass: {}\n\n\
             register one in .windlass/config.toml:\n\n  \
             [conversation.tools.{name}]\n  \
             command = \"{program}\"\n\n\
             or try it by hand:\n\n  \
             {program} '{{\"action\":\"schema\"}}'\n  \
             {program} '{{\"action\":\"run\"}}' '{{\"name\":\"{name}\",\"arguments\":{{}}}}'",
            self.names()
        )
    }
}

impl Call {
    fn of(invocation: Invocation) -> Self {
        Self {
            context: invocation.context,
            tool: invocation.tool,
        }
    }
}

/// The exit code, for a person at a prompt. Windlass reads only the output.
fn code_of(result: &Result<String, Error>) -> ExitCode {
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// An error and its causes in a line.
fn chain(error: Error) -> String {
    match error.into_stop() {
        StopReason::Failed(error) => {
            let mut parts = vec![error.message];
            parts.extend(error.trace);
            parts.join(": ")
        }
        StopReason::Asks(_) | StopReason::Aborted => String::new(),
    }
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
