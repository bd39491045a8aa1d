/* The fault loop: one thing done again and again, each time with another request of the allocator failing. Each failure
 * must be an MW_ERROR_MEMORY with a message, leak nothing and be noticed. */
#ifndef TESTS_OPS_FAULTS_H
#define TESTS_OPS_FAULTS_H

#include "support/cases/op_cases.h"

#include <millwright/millwright.h>

/* `allocator` is NULL when nothing shall fail; `chip` chooses the form of the text and the device. */
typedef mw_status fault_run(const void *what, const mw_allocator *allocator, bool chip, mw_error *err);

/* In both forms. By default some `samples` requests fail, spread evenly from one on that depends on `turn`, and every
 * other time all later ones, too; with MW_NIGHTLY=1 an eighth of all, in turns by the day. What the chip refuses when
 * nothing fails, it may refuse again. `name` is for messages. */
void faults_loop(fault_run *run, const void *what, const char *name, long samples, size_t turn);

/* A graph; with `pieces` each piece of it is a request of its own, so that every constructor comes to fail. NULL with
 * the error set. */
mw_graph *faults_graph(const mw_allocator *allocator, bool chip, bool pieces, mw_error *err);

/* The gradient of the sum of y by x. */
mw_status faults_gradient(mw_graph *graph, mw_tensor *y, mw_tensor *const *x, size_t count, mw_error *err);

/* A trainer on CPU or ANE that takes one step, on the host's side and on the engine's; the options' loss is set, the
 * feeds are those of its inputs. */
mw_status faults_train(mw_trainer_options options, const mw_feed *feeds, size_t count, const mw_allocator *allocator,
                       bool chip, mw_error *err);

mw_compile_options faults_compile_options(const mw_allocator *allocator, bool chip);

bool faults_is_float(const mw_tensor *x);

#endif
