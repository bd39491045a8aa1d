/* The reference evaluator: ops/space.def. */
#include "support/oracle.h"

bool oracle_of_space(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
