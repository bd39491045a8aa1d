/* The rule by which a loss counts as running away. */
#include "runtime/trainer/watch/trainer_watch.h"

#include <math.h>

enum { TAKEN_IN = 10, WINDOW = 64 };
#define JOINS_AT_MOST   10.0
#define LEAST_REFERENCE 0.01

bool mw__divergence_is_seen(mw__divergence_detector *watch, double loss)
{
    const double reference = watch->mean > LEAST_REFERENCE ? watch->mean : LEAST_REFERENCE;
    if (!isfinite(loss))
        return false;
    if (watch->count >= TAKEN_IN && loss > MW__LOSS_GROWTH * reference)
        return watch->warned = true;
    const double joins = watch->count == 0 ? fabs(loss) : fmin(fabs(loss), JOINS_AT_MOST * reference);
    watch->count++;
    watch->mean += (joins - watch->mean) / (double)(watch->count < WINDOW ? watch->count : WINDOW);
    return false;
}
