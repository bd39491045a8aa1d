/* Whether the loss runs away. */
#ifndef MW__RUNTIME_TRAINER_WATCH_TRAINER_WATCH_H
#define MW__RUNTIME_TRAINER_WATCH_TRAINER_WATCH_H

#include "runtime/trainer/object/trainer_object.h"

/* True once: if the loss is over MW__LOSS_GROWTH times the running mean of those before it, which it then joins:
 *     mean += (min(|loss|, 10 reference) - mean) / min(count, 64),  reference = max(mean, 0.01).
 * A loss that runs away must not take its mean along, hence the limit of 10; one that starts near 0 may grow, and one
 * that has come near 0 may be noisy, hence the least reference, below which there is no warning; and the first ten are
 * only taken in. Losses below 0 count by their size and never count as grown. */
#define MW__LOSS_GROWTH 1e3
bool mw__divergence_is_seen(mw__divergence_detector *watch, double loss);

#endif
