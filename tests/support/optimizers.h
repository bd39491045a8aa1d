/* An optimizer as another form of itself. */
#ifndef TESTS_SUPPORT_OPTIMIZERS_H
#define TESTS_SUPPORT_OPTIMIZERS_H

#include <millwright/millwright.h>

mw_optimizer optimizer_centered(mw_optimizer optimizer);
mw_optimizer optimizer_with_momentum(mw_optimizer optimizer); /* of 0.9 */
mw_optimizer optimizer_compensated(mw_optimizer optimizer);

#endif
