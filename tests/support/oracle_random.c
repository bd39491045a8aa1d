/* The reference evaluator: ops/random.def. */
#include "support/oracle.h"

bool oracle_of_random(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
