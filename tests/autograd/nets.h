/* The networks of tests/data/torch/net_losses.py, in our words. */
#ifndef TESTS_AUTOGRAD_NETS_H
#define TESTS_AUTOGRAD_NETS_H

#include <millwright/millwright.h>

/* "conv", "resnet", "transformer" or "vae", on the engine's CPU; NULL with err set. */
mw_trainer *nets_trainer(const char *name, mw_optimizer optimizer, mw_error *err);

/* Examples of one of its batches. */
int64_t nets_batch(const char *name);

/* Elements of a parameter or state; 0 if there is none of that name. */
size_t nets_count(const mw_trainer *trainer, const char *name);

#endif
