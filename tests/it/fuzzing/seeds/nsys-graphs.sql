-- An export of Nsight Systems with a graph.
create table StringIds (id integer, value text);
insert into StringIds values (1, 'gemm'), (2, 'add'), (3, 'cudaGraphLaunch_v10000'), (4, 'cudaLaunchKernel_v7000');
create table NVTX_EVENTS (start integer, end integer, eventType integer, text text, globalTid integer);
insert into NVTX_EVENTS values (100, 400, 59, 'capture', 16777217), (110, 150, 59, 'aten::mm, op_id = 4, sizes = [[8, 8]]', 16777217), (200, 250, 59, 'aten::add, seq = 7', 16777217), (1000, 9000, 59, 'replay', 16777217);
create table CUDA_GRAPH_NODE_EVENTS (start integer, end integer, globalTid integer, graphNodeId integer, originalGraphNodeId integer);
insert into CUDA_GRAPH_NODE_EVENTS values (120, 120, 16777217, 10, null), (220, 220, 16777217, 11, null), (300, 300, 16777217, 20, 10), (300, 300, 16777217, 21, 11), (310, 310, 16777217, 30, null), (310, 310, 16777217, 30, 20), (310, 310, 16777217, 31, 21), (500, 500, 16777217, 40, 41), (500, 500, 16777217, 41, 40);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, globalTid integer, correlationId integer, nameId integer);
insert into CUPTI_ACTIVITY_KIND_RUNTIME values (1100, 1110, 16777217, 5, 3), (1200, 1210, 16777217, 6, 3), (1300, 1310, 16777217, 7, 4);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, streamId integer, correlationId integer, globalPid integer, demangledName integer, graphNodeId integer);
insert into CUPTI_ACTIVITY_KIND_KERNEL values (2000, 2100, 0, 7, 5, 16777216, 1, 30), (2100, 2200, 0, 7, 5, 16777216, 2, 31), (3000, 3100, 0, 7, 6, 16777216, 1, 30), (3100, 3200, 0, 7, 6, 16777216, 2, 40), (3200, 3300, 0, 7, 7, 16777216, 2, null);
