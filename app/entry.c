/* Where the program begins. Apart, so that a test can be linked with all the rest. */
#include "command.h"
#include "base/allocator.h"

int main(int argc, char **argv)
{
    allocator_smooth();
    return run_program(argc, argv);
}
