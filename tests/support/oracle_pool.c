/* The reference evaluator: ops/pool.def. */
#include "support/oracle.h"

bool oracle_of_pool(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
