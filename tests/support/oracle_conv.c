/* The reference evaluator: ops/conv.def. */
#include "support/oracle.h"

bool oracle_of_conv(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
