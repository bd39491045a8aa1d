/* The reference evaluator: ops/activation.def. */
#include "support/oracle.h"

bool oracle_of_activation(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
