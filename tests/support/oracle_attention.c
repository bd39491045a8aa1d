/* The reference evaluator: ops/attention.def. */
#include "support/oracle.h"

bool oracle_of_attention(oracle *o, const mw__op *op)
{
    (void)o, (void)op;
    return false;
}
