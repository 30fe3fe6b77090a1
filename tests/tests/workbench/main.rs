//! Two real servers of agora-workbench that run code, behind plugway, used by the official clients in both eras.

mod alike;
mod between;
mod callers;
mod directly;
mod files;
mod forms;
mod owners;
mod reference;
mod restarted;
mod stacked;
mod together;
mod tour;
mod unified;
