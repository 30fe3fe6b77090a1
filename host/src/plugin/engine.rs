//! The one engine of the process, and the thread that makes its epochs pass.

use std::time::Duration;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

use super::limits::MEMORY_MIB_MAX;

/// Length of an epoch.
pub const TICK: Duration = Duration::from_millis(1);

/// Makes the engine. `instances` is the sum of all pools; swaps need as many again for a moment.
pub fn build(instances: u32) -> wasmtime::Result<Engine> {
    let engine = match Engine::new(config().allocation_strategy(pooling(instances))) {
        Ok(engine) => engine,
        Err(error) => {
            tracing::warn!(
                %error,
                "memory for plugin instances cannot be reserved; each will be allocated when it is made"
            );
            Engine::new(&config())?
        }
    };
    start_ticker(&engine)?;
    Ok(engine)
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .cranelift_opt_level(OptLevel::Speed);
    config
}

/// Interpreted guests consist of dozens of core modules; the numbers leave them room.
fn pooling(instances: u32) -> InstanceAllocationStrategy {
    let total = instances.saturating_mul(2).saturating_add(16);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(total)
        .total_core_instances(total.saturating_mul(20))
        .total_memories(total.saturating_mul(2))
        .total_tables(total.saturating_mul(20))
        .total_stacks(total)
        .max_core_instances_per_component(60)
        .max_memories_per_component(4)
        .max_tables_per_component(60)
        .max_core_instance_size(1 << 20)
        .max_component_instance_size(1 << 20)
        .max_memory_size((MEMORY_MIB_MAX as usize) << 20)
        .table_elements(20_000)
        .max_unused_warm_slots(16);
    // without the scan, keeping memory resident touches all of it
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.linear_memory_keep_resident(2 << 20)
            .table_keep_resident(64 << 10)
            .pagemap_scan(Enabled::Auto);
    }
    InstanceAllocationStrategy::Pooling(pool)
}

/// A thread of the system, not a task: a blocked runtime must still tick. It ends with the engine.
#[expect(
    clippy::disallowed_methods,
    reason = "the ticker is the one place that waits for time itself to pass"
)]
fn start_ticker(engine: &Engine) -> wasmtime::Result<()> {
    let weak = engine.weak();
    std::thread::Builder::new().name("plugway-epoch".into()).stack_size(64 << 10).spawn(
        move || {
            loop {
                std::thread::sleep(TICK);
                match weak.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        },
    )?;
    Ok(())
}

/// Epochs that a time takes; one more, since the present one is partly over.
pub fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}
