use futures_util::FutureExt;
use tokio::sync::mpsc::UnboundedSender;
use windlass_outside::needs;

use super::*;
use crate::test_broker::TestBroker;

/// Injects a frame while another arrives, as a start that was claimed in that time.
struct InjectingGate(UnboundedSender<Vec<u8>>);

impl FrameGate for InjectingGate {
    fn leaving(&mut self, _: &[u8]) -> bool {
        true
    }

    async fn arriving(&mut self, _: &[u8]) -> bool {
        self.0.send(b"start".to_vec()).unwrap();
        true
    }
}

#[tokio::test]
async fn a_frame_that_was_begun_is_completed_before_the_next() {
    let (pipe, mut delivered) = tokio::io::duplex(16);
    let mut writer = FrameWriter::new(pipe);
    // The pipe takes only a part of it.
    assert!(writer.write(&[1; 40]).now_or_never().is_none());
    let expected = [frame(&[1; 40]), frame(&[2; 4])].concat();
    let mut read = vec![0; expected.len()];
    let reading = delivered.read_exact(&mut read);
    let (written, length) = tokio::join!(writer.write(&[2; 4]), reading);
    assert_eq!((written, length.unwrap()), (Some(()), expected.len()));
    assert_eq!(read, expected);
}

#[tokio::test]
async fn an_injected_frame_precedes_one_that_was_arriving() {
    needs!("nats-server");
    let test = TestBroker::start().await;
    let broker = test.connect().await;
    let messages = broker.client.subscribe("far").await.unwrap();
    let (to_pipe, mut delivered) = tokio::io::duplex(PIPE);
    let (_output, from_pipe) = tokio::io::duplex(PIPE);
    let (adding, added) = mpsc::unbounded_channel();
    let (_telling, told) = mpsc::unbounded_channel();
    let mut end = LinkEnd {
        broker: broker.clone(),
        messages,
        to: String::from("near"),
        from_pipe,
        to_pipe: FrameWriter::new(to_pipe),
        added,
        told,
        flow: Flow::default(),
    };
    let mut gate = InjectingGate(adding);
    let arriving = message(DATA, 0, &frame(b"end"));
    broker.client.publish("far", arriving).await.unwrap();
    let reading = async {
        let mut expected = frame(b"start");
        expected.extend(frame(b"end"));
        let mut bytes = vec![0; expected.len()];
        delivered.read_exact(&mut bytes).await.unwrap();
        assert_eq!(bytes, expected);
    };
    tokio::select! {
        ending = end.run(&mut gate) => panic!("{ending:?}"),
        () = reading => {}
    }
}

#[test]
fn messages_are_as_long_as_the_broker_accepts() {
    assert_eq!(longest_piece(1024 * 1024), LONGEST_MESSAGE);
    assert_eq!(
        message(DATA, 0, &vec![0; longest_piece(65_536)]).len(),
        65_536
    );
}
