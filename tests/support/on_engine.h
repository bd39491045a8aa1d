/* Programs and trainers for the engine, whatever else the system has. `threads` is 0 for one per processor. */
#ifndef TESTS_SUPPORT_ON_ENGINE_H
#define TESTS_SUPPORT_ON_ENGINE_H

#include <millwright/millwright.h>

mw_compile_options engine_options(mw_device device, int threads);

mw_program *engine_compile(const mw_graph *graph, mw_device device, int threads, mw_error *err);

mw_trainer *engine_trainer(mw_tensor *loss, mw_optimizer optimizer, mw_device device, int threads, mw_error *err);

#endif
