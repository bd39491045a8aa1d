/* The gradient of relu as operations. */
#include "graph/patterns/relu.h"

#include <millwright/millwright.h>

mw_tensor *mw__relu_gradient(mw_tensor *y, mw_tensor *dy)
{
    if (y == NULL || dy == NULL)
        return NULL;
    mw_tensor *positive = mw_greater(y, mw_scalar(y->graph, mw_tensor_dtype(y), 0.0));
    return mw_select(positive, dy, mw_scalar(y->graph, mw_tensor_dtype(dy), 0.0));
}
