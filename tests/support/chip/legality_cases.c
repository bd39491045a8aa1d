/* All cases of legality_cases.h. */
#include "legality_cases.h"

#include <stdio.h>

const legality_case *legality_case_at(size_t index)
{
    size_t layers = 0;
    while (legality_case_layers(layers) != NULL)
        layers++;
    return index < layers ? legality_case_layers(index) : legality_case_values(index - layers);
}

const char *legality_text(const char *inputs, const char *body, char *buffer, size_t size)
{
    snprintf(buffer, size, "program(1.3)\n{func main<ios18>(%s) {%s} -> (y);}", inputs, body);
    return buffer;
}
