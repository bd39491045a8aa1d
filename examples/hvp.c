/* Newton's method with conjugate gradients: softmax regression on MNIST, whose 7,840 weights have a Hessian of 61
 * million numbers that is never made. One program gives loss and gradient, another the product of Hessian and vector.
 */
#include "options.h"

#include <math.h>

enum { CLASSES = 10, PIXELS = 784, N = CLASSES * PIXELS };

static const double decay = 1e-3; /* of the weights: the problem has one solution */

/* loss(w) = cross-entropy + decay / 2 |w|^2; with a direction "v" also its product with the Hessian. */
static mw_program *make_program(const example_options *o, bool product, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_mul_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(o->batch, PIXELS)), 1.0 / 255.0);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o->batch));
    mw_tensor *w = mw_input(graph, "w", MW_F32, MW_SHAPE(CLASSES, PIXELS)), *out = NULL;
    mw_tensor *squares = mw_reduce_sum_square(w, MW_ALL_AXES, false);
    mw_tensor *fit = mw_cross_entropy(mw_matmul(x, w, MW_TRANSPOSE_Y), y);
    mw_tensor *loss = mw_add(fit, mw_mul_scalar(squares, 0.5 * decay));
    if (product) {
        mw_tensor *v = mw_input(graph, "v", MW_F32, MW_SHAPE(CLASSES, PIXELS));
        mw_hvp(loss, &w, &v, 1, &out, err);
    } else {
        mw_grad(loss, &w, 1, &out, err);
        mw_output(loss, "loss");
    }
    mw_output(out, "result");
    mw_compile_options options = mw_compile_defaults();
    options.device = o->device;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static void feed_data(mw_program *program, const mw_batch *batch, mw_error *err)
{
    mw_program_write(program, "x", MW_U8, batch->feeds[0].data, (size_t)batch->examples * PIXELS, err);
    mw_program_write(program, "y", MW_U8, batch->feeds[1].data, (size_t)batch->examples, err);
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void add(float *y, double factor, const float *x)
{
    for (int i = 0; i < N; i++)
        y[i] = (float)((double)y[i] + factor * (double)x[i]);
}

static void run(mw_program *program, const char *port, const float *value, float *result, mw_error *err)
{
    mw_program_write(program, port, MW_F32, value, N, err);
    mw_program_run(program, err);
    mw_program_read(program, "result", MW_F32, result, N, err);
}

/* Solves H step = -gradient to a tenth of the gradient; returns the products that it took. */
static int solve(mw_program *hessian, const float *gradient, float *step, mw_error *err)
{
    static float r[N], d[N], hd[N];
    int products = 0;
    for (int i = 0; i < N; i++) {
        step[i] = 0;
        r[i] = d[i] = -gradient[i];
    }
    double rr = dot(r, r);
    const double goal = 0.01 * rr;
    for (; rr > goal && products < 200 && err->status == MW_OK; products++) {
        run(hessian, "v", d, hd, err);
        const double length = rr / dot(d, hd), before = rr;
        add(step, length, d);
        add(r, -length, hd);
        rr = dot(r, r);
        for (int i = 0; i < N; i++)
            d[i] = (float)((double)r[i] + rr / before * (double)d[i]);
    }
    return products;
}

int main(int argc, char **argv)
{
    static float w[N], gradient[N], step[N], loss;
    example_options o = {.data = "data/mnist", .epochs = 9, .batch = 2048, .device = MW_DEVICE_CPU, .seed = 1};
    options_parse(&o, argc, argv);
    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_loader_options loader_options = mw_loader_defaults(train, o.batch);
    loader_options.seed = o.seed;
    mw_loader *loader = mw_loader_create(&loader_options, &err);
    const mw_batch *batch = mw_loader_next(loader, &err);
    mw_program *slope = make_program(&o, false, &err), *hessian = make_program(&o, true, &err);
    if (err.status == MW_OK) {
        feed_data(slope, batch, &err);
        feed_data(hessian, batch, &err);
    }
    for (int64_t i = 0; i < o.epochs && err.status == MW_OK; i++) {
        run(slope, "w", w, gradient, &err);
        mw_program_read(slope, "loss", MW_F32, &loss, 1, &err);
        mw_program_write(hessian, "w", MW_F32, w, N, &err);
        const int products = solve(hessian, gradient, step, &err);
        printf("iteration %lld  loss %.7f  gradient %.2e  products %d\n", (long long)i, (double)loss,
               sqrt(dot(gradient, gradient)), products);
        add(w, 1.0, step);
    }
    mw_program_destroy(hessian);
    mw_program_destroy(slope);
    mw_loader_destroy(loader);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
