/* The reference evaluator: ops/image.def. */
#include "support/oracle.h"

bool oracle_of_image(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
