/* The smallest program against an installed tree: it must find the library that its header belongs to. */
#include <millwright/millwright.h>
#include <stdio.h>

int main(void)
{
    printf("millwright %s, %s\n", mw_version(), mw_status_name(MW_OK));
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_output(mw_relu(x), "y");
    const mw_status status = mw_graph_check(graph, NULL);
    mw_graph_destroy(graph);
    return status != MW_OK;
}
