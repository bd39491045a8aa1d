/* The programs and trainers of on_engine.h. */
#include "support/on_engine.h"

mw_compile_options engine_options(mw_device device, int threads)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = threads;
    return options;
}

mw_program *engine_compile(const mw_graph *graph, mw_device device, int threads, mw_error *err)
{
    const mw_compile_options options = engine_options(device, threads);
    return mw_program_create(graph, &options, err);
}

mw_trainer *engine_trainer(mw_tensor *loss, mw_optimizer optimizer, mw_device device, int threads, mw_error *err)
{
    mw_trainer_options options = mw_trainer_defaults(loss, optimizer);
    options.compile = engine_options(device, threads);
    return mw_trainer_create(&options, err);
}
