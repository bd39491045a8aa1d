/* The forms of optimizers.h. */
#include "support/optimizers.h"

mw_optimizer optimizer_centered(mw_optimizer optimizer)
{
    optimizer.centered = true;
    return optimizer;
}

mw_optimizer optimizer_with_momentum(mw_optimizer optimizer)
{
    optimizer.momentum = 0.9f;
    return optimizer;
}

mw_optimizer optimizer_compensated(mw_optimizer optimizer)
{
    optimizer.compensated = true;
    return optimizer;
}
