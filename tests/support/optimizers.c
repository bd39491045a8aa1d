/* The forms of optimizers.h. */
#include "support/optimizers.h"

mw_optimizer optimizer_centered(mw_optimizer optimizer)
{
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_CENTERED, true);
    return optimizer;
}

mw_optimizer optimizer_with_momentum(mw_optimizer optimizer)
{
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_MOMENTUM, 0.9f);
    return optimizer;
}

mw_optimizer optimizer_compensated(mw_optimizer optimizer)
{
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, true);
    return optimizer;
}
