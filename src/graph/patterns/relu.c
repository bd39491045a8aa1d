/* The gradient of relu as operations. */
#include "graph/patterns/relu.h"

#include <millwright/millwright.h>

mw_tensor *mw__relu_gradient(mw_tensor *x, mw_tensor *dy)
{
    if (x == NULL || dy == NULL)
        return NULL;
    mw_tensor *positive = mw_greater(x, mw_scalar(x->graph, mw_tensor_dtype(x), 0.0));
    return mw_select(positive, dy, mw_scalar(x->graph, mw_tensor_dtype(dy), 0.0));
}
